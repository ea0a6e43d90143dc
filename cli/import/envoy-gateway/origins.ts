import { fieldsAt, listAt, textAt } from '../fields-at.ts';
import type { SourceObject } from '../source-object.ts';
import { GATEWAY_API } from './targets.ts';

/** Returns the origins under which browsers see a route, of its host names that are exact. */
export function originsOf(
  route: SourceObject,
  objects: readonly SourceObject[],
): readonly string[] {
  const own = listAt(route.fields, 'spec', 'hostnames').map(String);
  const listeners = listenersOf(route, objects);
  const https = listeners.filter(listener => textAt(listener, 'protocol') === 'HTTPS');
  const used = https.length > 0 ? https : listeners;
  return used.flatMap(listener => {
    const names = own.length > 0 ? own : [textAt(listener, 'hostname') ?? '*'];
    return names
      .filter(name => !name.includes('*'))
      .map(name => formatOrigin(name, https.length > 0, Number(fieldsAt(listener).port)));
  });
}

function formatOrigin(name: string, isTls: boolean, port: number): string {
  const isUsual = port === (isTls ? 443 : 80);
  return `${isTls ? 'https' : 'http'}://${name}${isUsual ? '' : `:${port}`}`;
}

function listenersOf(route: SourceObject, objects: readonly SourceObject[]): readonly unknown[] {
  return listAt(route.fields, 'spec', 'parentRefs').flatMap(parent => {
    const namespace = textAt(parent, 'namespace') ?? route.namespace ?? 'default';
    const section = textAt(parent, 'sectionName');
    const gateway = objects.find(
      ({ group, kind, name, namespace: place = 'default' }) =>
        group === GATEWAY_API &&
        kind === 'Gateway' &&
        name === textAt(parent, 'name') &&
        place === namespace,
    );
    return listAt(gateway?.fields, 'spec', 'listeners').filter(
      listener => section === undefined || textAt(listener, 'name') === section,
    );
  });
}
