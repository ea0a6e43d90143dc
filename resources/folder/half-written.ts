import type { FileContent } from './file-content.ts';
import type { Listing } from './folder-listing.ts';

export type Files = ReadonlyMap<string, FileContent>;

type Seen = { readonly files: Files; readonly listing: Listing };

/**
 * Returns the files of `now` that a writer may not have finished yet. These are the ones that are
 * new, and those that were written in place and are shorter than before or lost their last line
 * feed. Only a pause can tell whether they are whole. A file that another one took the place of is
 * whole, since it was renamed.
 */
export function halfWritten(before: Seen, now: Seen): readonly string[] {
  return [...now.files.keys()].filter(file => {
    const [earlier, content] = [textOf(before.files.get(file)), textOf(now.files.get(file))];
    if (content === earlier) return false;
    if (earlier === undefined || earlier === '') return content !== '' && content !== undefined;
    if (identityOf(before.listing, file) !== identityOf(now.listing, file)) return false;
    if (content === undefined || content.length < earlier.length) return true;
    return earlier.endsWith('\n') && !content.endsWith('\n');
  });
}

/** Returns the files of `now`, with the `held` ones as they were before, if they were there. */
export function holdBack(held: readonly string[], before: Files, now: Files): Files {
  const files = new Map(now);
  for (const file of held) {
    const earlier = before.get(file);
    if (earlier === undefined) files.delete(file);
    else files.set(file, earlier);
  }
  return files;
}

function textOf(content: FileContent | undefined): string | undefined {
  return content !== undefined && 'text' in content ? content.text : undefined;
}

function identityOf(listing: Listing, file: string): string | undefined {
  const entry = listing.files.get(file);
  return entry !== undefined && 'identity' in entry ? entry.identity : undefined;
}
