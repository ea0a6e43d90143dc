/**
 * Whether there is a process of this id, also one that has ended and that nobody has waited for.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
