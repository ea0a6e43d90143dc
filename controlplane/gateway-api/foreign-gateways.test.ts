import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { withoutForeign } from './foreign-gateways.ts';
import { DEFAULT_CONTROLLER } from './gateway-options.ts';
import { CLASS, gateway, object, service } from './testing/documents.ts';

const HTTP = 'listeners: [{name: http, port: 80, protocol: HTTP}]';
const THEIRS = CLASS.replace('name: ours', 'name: theirs').replace(DEFAULT_CONTROLLER, 'a.test/b');
const ofClass = (name: string, gatewayClass: string) =>
  gateway(name, HTTP).replace('gatewayClassName: ours', `gatewayClassName: ${gatewayClass}`);
const set = (name: string, parent: string) =>
  object('ListenerSet', name, `parentRef: {name: ${parent}}, ${HTTP}`);

const ALL = [
  ...[CLASS, THEIRS, service('web')],
  ...[gateway('a', HTTP), ofClass('b', 'theirs'), ofClass('c', 'none')],
  ...[set('of-a', 'a'), set('of-b', 'b'), set('of-none', 'd')],
].join('');

test('Gateways of other controllers are left out, and so are their ListenerSets', () => {
  const { resources } = collect([parseFile('in.yaml', ALL, DEFAULT_PARSE_OPTIONS)]);
  const left = new Set(withoutForeign([...resources.values()], DEFAULT_CONTROLLER));
  assert.deepEqual(
    [...resources.values()].filter(each => !left.has(each)).map(({ id }) => id),
    ['Gateway/infra/b', 'Gateway/infra/c', 'ListenerSet/infra/of-b', 'ListenerSet/infra/of-none'],
  );
});
