/** The programs of this machine that run in place of images. */
export type Images = {
  /** The programs on the PATH of each container, from name to file. */
  readonly programs: ReadonlyMap<string, string>;
  /** Returns what an image runs when its container has no command. */
  entrypoint(image: string): readonly string[];
};
