/** A process of the system: how it is run, and how one knows that it is ready. */
export type Part = {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /**
   * Asks whether it is ready; absent: a Node process, which says so itself (`process.send({ ready:
   * true })`).
   */
  readonly probe?: () => Promise<boolean>;
};
