/** Takes the lock file for a process, by default this one, or says which living one has it. */
export function acquireLock(file: string, pid?: number): { release(): void; holder?: never } | { holder: number };

/** Returns the id of the living process that has the lock file, or undefined. */
export function lockHolder(file: string): number | undefined;
