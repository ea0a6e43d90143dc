import { describe } from 'node:test';
import { describeRecordStore } from './testing/describe-record-store.ts';
import { openSqliteStores } from './testing/sqlite-stores.ts';

describe('records in SQLite', () => {
  describeRecordStore(openSqliteStores);
});
