/** The programs of this machine that run in place of images. */
export type Images = {
  /** The programs on the PATH of each container, from name to file. */
  readonly programs: ReadonlyMap<string, string>;
  /** Those that an image of their name runs when its container has no command. */
  readonly entrypoints: ReadonlySet<string>;
  /** Folders of sources, by the image that has them. All other images have what ours has. */
  readonly sources: ReadonlyMap<string, string>;
};

/**
 * Returns what an image runs when its container has no command. Throws when that is not known. The
 * tag of the image does not matter.
 */
export function entrypoint({ entrypoints }: Images, image: string): readonly string[] {
  const name = /([^/:]+)(:[^/]*)?$/.exec(image)?.[1] ?? '';
  if (!entrypoints.has(name)) throw new Error(`there is no program for the image ${image}`);
  return [name];
}
