package policy

// Askable is a machine whose own operation can wait until its host says that it is needed.
type Askable interface {
	// SetReady says whether the operation may be due; a machine that was told nothing takes it that it may. It concerns neither the
	// runs of callers nor a run that has begun. After a no becomes a yes the shell sends Woke: what rests is looked at again.
	SetReady(ready bool)
	// DueAt is when the operation is due, if the host is ready then. It is Never, while nothing is to be run.
	DueAt(now Time) Time
}
