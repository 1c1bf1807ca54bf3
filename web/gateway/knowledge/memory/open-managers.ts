/** Open memory managers of this process, by the name of their folder or database. */
const managers = new Map<string, Set<object>>();

/** Registers a manager of a folder or database, and warns if another one has it open: each would read and index all files. */
export function registerManager(name: string, manager: object, warn: (message: string) => void): void {
  const open = managers.get(name) ?? new Set();
  if ([...open].some((other) => other !== manager)) warn(`Another MemoryManager is open on ${name}. Close it, or use one for all agents.`);
  managers.set(name, open.add(manager));
}

export function unregisterManager(name: string, manager: object): void {
  const open = managers.get(name);
  open?.delete(manager);
  if (open?.size === 0) managers.delete(name);
}
