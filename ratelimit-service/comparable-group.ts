import type { Label } from '#resources/labels/label-pattern.ts';
import type { LimitIndex } from './limits-index.ts';

/** Returns a label group as it is matched and counted: each value in its comparable form. */
export function comparableGroup(
  { forms }: LimitIndex,
  domain: string,
  group: readonly Label[],
): readonly Label[] {
  const ofDomain = forms.get(domain);
  if (ofDomain === undefined) return group;
  let changed: Label[] | undefined;
  for (const [at, { key, value }] of group.entries()) {
    const form = ofDomain.get(key)?.(value) ?? value;
    if (form === value) continue;
    changed ??= [...group];
    changed[at] = { key, value: form };
  }
  return changed ?? group;
}
