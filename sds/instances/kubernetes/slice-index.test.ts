import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '#xds/testing/random.ts';
import type { Instances } from '../instance.ts';
import type { Slice } from './endpoint-slice.ts';
import type { ServicePort } from './service-ports.ts';
import { SliceIndex } from './slice-index.ts';

const ADDRESSES = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];

function randomPorts(random: Random): readonly ServicePort[] {
  return random.some([
    { name: 'http', port: 80 },
    { name: 'admin', port: 81 },
    { name: 'http', port: 82, udp: true as const },
  ]);
}

function randomSlice(random: Random): Slice {
  const endpoints = random.some(ADDRESSES).map(address => ({
    address,
    target: undefined,
    state: random.chance(0.8) ? ('ready' as const) : ('ending' as const),
    hostname: undefined,
    zone: undefined,
  }));
  const namespace = random.pick(['default', 'other']) ?? '';
  const service = random.pick(['users', 'shop']) ?? '';
  const [ports, udpPorts] = [randomPorts(random), randomPorts(random)];
  return { namespace, service, ports, udpPorts, endpoints, problem: undefined };
}

test('an index that has seen many changes has what one that begins with the last has, and what it had stays', () => {
  const random = new Random(1);
  const index = new SliceIndex('default');
  const slices = new Map<string, Slice | undefined>();
  const ports = new Map<string, readonly ServicePort[] | undefined>();
  const seen: { readonly instances: Instances; readonly expected: Instances }[] = [];
  for (let round = 0; round < 300; round += 1) {
    if (random.chance(0.3)) {
      const change = [
        random.pick(['default/users', 'other/shop']) ?? '',
        random.chance(0.7) ? randomPorts(random) : undefined,
      ] as const;
      ports.set(...change);
      index.updatePorts([change]);
    } else {
      const change = [
        random.pick(['1', '2', '3', '4']) ?? '',
        random.chance(0.7) ? randomSlice(random) : undefined,
      ] as const;
      slices.set(...change);
      index.update([change]);
    }
    const anew = new SliceIndex('default');
    anew.updatePorts(ports);
    anew.update(slices);
    seen.push({ instances: index.instances, expected: new Map(anew.instances) });
  }
  for (const { instances, expected } of seen) assert.deepEqual(new Map(instances), expected);
});
