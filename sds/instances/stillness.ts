/** A file that is written in place counts once nothing has written to it for this time, in ms. */
export const STILL_MS = 500;
/** One that is written without a pause counts after this time, in ms. */
const LONGEST_MS = 10_000;

/**
 * The file was written in place, something came or went by its name, as by a rename, or another
 * file was written.
 */
export type FolderEvent = 'write' | 'rename' | 'other';

/** Judges whether a file is being written, so that no part of a content is taken for the whole. */
export type Stillness = {
  /** Takes notice of an event in the folder of the file. */
  event(what: FolderEvent): void;
  /**
   * Returns whether what is there now is whole. `ageMs` is the time since the file was written, as
   * the file system says. It counts where no event says that a file was renamed.
   */
  isStill(ageMs: number): boolean;
  /** Returns whether the last look took a file that is written without a pause. */
  isOverdue(): boolean;
  /**
   * Takes notice that the content is used.
   * @returns whether there was an event since the content before
   */
  used(): boolean;
};

/** `now` is in ms and never goes back. */
export function stillness(now: () => number): Stillness {
  let writtenAt = Number.NEGATIVE_INFINITY;
  let writingSince: number | undefined;
  let hadEvent = false;
  let wasReplaced = false;
  let isOverdue = false;
  return {
    event(what) {
      hadEvent = true;
      if (what === 'write') writtenAt = now();
      if (what === 'rename') wasReplaced = true;
    },
    isStill(ageMs) {
      const quiet = now() - writtenAt;
      // A file of the future comes from a machine with another clock.
      const isFresh = !wasReplaced && ageMs >= 0 && ageMs < STILL_MS;
      const isWritten = quiet < STILL_MS || isFresh;
      // After a pause the next writer has all the time again, also where the content is the same.
      writingSince = isWritten ? (writingSince ?? now()) : undefined;
      isOverdue = writingSince !== undefined && now() - writingSince >= LONGEST_MS;
      if (isOverdue) writingSince = undefined;
      return !isWritten || isOverdue;
    },
    isOverdue: () => isOverdue,
    used() {
      const before = hadEvent;
      hadEvent = false;
      wasReplaced = false;
      return before;
    },
  };
}
