/** A process of the system: how to run it, and how to see that it is ready. */
export type Part = {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /**
   * Asks whether it is ready. Absent for a Node process, which reports it (`process.send({ ready:
   * true })`).
   */
  readonly probe?: () => Promise<boolean>;
};
