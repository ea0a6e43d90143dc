const KEY = 'generic_key';
const VALUE = /^RateLimit\/[^/]+\/[^/]+\/\d+$/;

type TargetLabel = { readonly key: string; readonly value: string };

/**
 * Returns the label that the requests to the targets of a RateLimit have for one of its limits.
 * `counted` is a number for what that counts. No other pattern matches the label, not even one for
 * any value.
 */
export function targetLabel(namespace: string, name: string, counted: number): TargetLabel {
  return { key: KEY, value: `RateLimit/${namespace}/${name}/${counted}` };
}

/** Whether a label is such a one. */
export function isTargetLabel({ key, value = '' }: Partial<TargetLabel>): boolean {
  return key === KEY && VALUE.test(value);
}

/** Why operators may not write such a label. `may` is what only its RateLimit may do. */
export function targetLabelMistake(may: 'give' | 'match'): string {
  return `\`generic_key\` with "RateLimit/<namespace>/<name>/<number>" is the label of a RateLimit with \`targetRefs\`, which alone may ${may} it`;
}
