/** Why a Mapping with this field of Ambassador's must not be served, or undefined: ignored, `tls` might let a service be asked in plain text. */
export function refuseUnserved(field: string, value: unknown): string | undefined {
  if (field.toLowerCase() !== 'tls' || value === false) return undefined;
  return `\`${field}\` is not served; without it the service might be asked in plain text: write \`https://\` before its name`;
}
