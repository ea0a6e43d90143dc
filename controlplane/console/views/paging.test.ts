import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageOf, parsePage } from './paging.ts';

test('what is no number or too much is the default or the most', () => {
  const plain = { search: '', offset: 0, limit: 50, sort: '' };
  const cases: readonly (readonly [object, object])[] = [
    [{}, plain],
    [{ offset: '', limit: '', search: '', sort: '' }, plain],
    [{ offset: '-1', limit: '-1' }, plain],
    [{ offset: '1e3', limit: 'NaN' }, plain],
    [{ offset: ['1', '2'], limit: { a: '1' }, search: ['x'] }, plain],
    [{ offset: '9'.repeat(30), limit: '9'.repeat(30) }, plain],
    [{ limit: '0' }, { ...plain, limit: 1 }],
    [{ limit: '100000' }, { ...plain, limit: 200 }],
    [{ search: ' A  b ' }, { ...plain, search: 'a  b' }],
    [{ search: 'x'.repeat(9_999) }, { ...plain, search: 'x'.repeat(200) }],
  ];
  for (const [query, expected] of cases)
    assert.deepEqual(parsePage(query as Record<string, unknown>), expected, JSON.stringify(query));
});

test('each word of a search is in what is found', () => {
  const items = ['alpha one', 'alpha two', 'beta one'];
  const find = (search: string, offset = '0', limit = '50') =>
    pageOf(items, parsePage({ search, offset, limit }), item => item);
  assert.deepEqual(find('one alpha').items, ['alpha one']);
  assert.deepEqual(find('', '1', '1'), { total: 3, offset: 1, items: ['alpha two'] });
  assert.deepEqual(find('alpha', '99'), { total: 2, offset: 2, items: [] });
  assert.deepEqual(find('nothing'), { total: 0, offset: 0, items: [] });
});
