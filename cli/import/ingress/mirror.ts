import type { Fields } from '#resources/words/fields.ts';
import type { Draft } from './draft.ts';
import type { Ingress } from './ingress.ts';

/** Returns the Mapping that gets copies of the requests, when there is one. */
export function mirrorOf(ingress: Ingress, host: string, match: Fields): readonly Draft[] {
  const service = mirrorService(ingress.annotations.get('mirror-target'));
  if (service === undefined) return [];
  return [
    { ingress, host, spec: { ...match, service, rewrite: '', shadow: true }, suffix: 'mirror' },
  ];
}

/** Returns the service of a target. Copies have the path of the request. */
export function mirrorService(target: string | undefined): string | undefined {
  return /^(https?:\/\/[^/?#$@]+)\$(?:request_uri|\{request_uri\})$/i.exec(target ?? '')?.[1];
}
