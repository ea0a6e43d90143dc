/** Asks again and again until the condition holds. Rejects when it does not within `ms`. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  ms = 90_000,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}
