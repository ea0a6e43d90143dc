/**
 * Returns the authority of a request as the listener leaves it (`strip_trailing_host_dot`). A dot
 * at the very end is removed, or else the last one when it stands before the port.
 */
export function withoutTrailingDot(authority: string): string {
  const dot = authority.lastIndexOf('.');
  if (dot === -1) return authority;
  if (dot === authority.length - 1) return authority.slice(0, -1);
  return authority.charAt(dot + 1) === ':'
    ? authority.slice(0, dot) + authority.slice(dot + 1)
    : authority;
}

/**
 * Returns the host by which Envoy looks for the virtual host (`ignore_port_in_host_matching`): what
 * stands before the last colon. Envoy does not check that a port is a number. [measured on Envoy
 * 1.40]
 */
export function withoutPort(authority: string): string {
  const colon = authority.lastIndexOf(':');
  return colon === -1 || authority.lastIndexOf(']') > colon ? authority : authority.slice(0, colon);
}
