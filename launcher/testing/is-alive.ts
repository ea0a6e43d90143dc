/** Tells whether there is a process of this id, also a zombie that nobody has waited for. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
