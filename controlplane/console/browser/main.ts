import { render } from 'preact';
import { Frame } from './frame.ts';
import { html } from './html.ts';
import { connect } from './live.ts';
import { followLinks } from './location.ts';
import { followSystem } from './theme.ts';

followSystem();
followLinks();
connect();
const root = document.getElementById('console');
// In a task of its own, so that no task of the first page is long.
if (root !== null) setTimeout(() => render(html`<${Frame} />`, root));
