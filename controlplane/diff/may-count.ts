import type { LabelPattern } from '#resources/labels/label-pattern.ts';
import type { LabelSpecifier } from '#resources/labels/label-specifier.ts';

/** Whether requests with these labels can be counted by the limit. Values may be the request's. */
export function mayCount(pattern: LabelPattern, labels: readonly LabelSpecifier[]): boolean {
  if (labels.length === 0) return false;
  return pattern.every((item, index) => {
    const label = labels[index];
    return label !== undefined && item.some(({ key, value }) => canBe(label, key, value));
  });
}

function canBe(label: LabelSpecifier, key: string, value: string | undefined): boolean {
  if (label.type === 'generic_key')
    return key === label.type && (value === undefined || value === label.value);
  return key === ('key' in label ? label.key : label.type);
}
