import express from 'express';
import { siteIn } from './site.ts';

const PORT = 8088;
const FOLDER = '.gateway/site';

/** `npm run docs` builds the pages, serves them, and builds them again when a file changes. */
const site = siteIn(FOLDER);
await site.init();
await site.watch();
const server = express()
  .use(express.static(FOLDER))
  .listen(PORT, '127.0.0.1', error => {
    if (error === undefined)
      return process.stdout.write(`The pages are at http://127.0.0.1:${PORT}/\n`);
    process.stderr.write(`Cannot serve the pages at port ${PORT}: ${error.message}\n`);
    process.exit(1);
  });
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    server.close();
    process.exit(0);
  });
