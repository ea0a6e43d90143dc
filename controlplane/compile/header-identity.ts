/** Names that some upstream takes for one header: in any letter case, and with `_` for `-`. */
export function headerIdentity(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}
