import { hash } from 'node:crypto';

/** A Lua script and the name by which Redis remembers it. */
export type Script = { readonly text: string; readonly sha1: string };

export function script(text: string): Script {
  return { text, sha1: hash('sha1', text) };
}
