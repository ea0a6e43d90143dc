/** Returns the JSON name of a field: `lowerCamelCase` of its own. Source: the ProtoJSON format. */
export function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
