/** Tells it without a list of them, since of ten thousand Mappings most have none. */
export function hasKeys(record: object): boolean {
  for (const _ in record) return true;
  return false;
}
