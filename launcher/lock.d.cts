/** Takes the lock file for this process, or says which living process has it. */
export function acquireLock(file: string): { release(): void; holder?: never } | { holder: number };

/** Returns the id of the living process that has the lock file, or undefined. */
export function lockHolder(file: string): number | undefined;
