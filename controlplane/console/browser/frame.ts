import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ActResult } from './act.ts';
import { html, type Shown } from './html.ts';
import { followKeys, SCREEN_KEYS } from './keys.ts';
import { useConnected } from './live.ts';
import { to, usePlace } from './location.ts';
import { Certificates } from './screens/certificates.ts';
import { Change } from './screens/change.ts';
import { Explain } from './screens/explain.ts';
import { Gateways } from './screens/gateways.ts';
import { Limits } from './screens/limits.ts';
import { Overview } from './screens/overview.ts';
import { Proxies } from './screens/proxies.ts';
import { Route } from './screens/route.ts';
import { Routes } from './screens/routes.ts';
import { Security } from './screens/security.ts';
import { Service } from './screens/service.ts';
import { Services } from './screens/services.ts';
import { LiveTraffic } from './screens/traffic.ts';
import { useTheme } from './theme.ts';

export type ScreenProps = { readonly query: URLSearchParams };
type Screen = {
  readonly title: string;
  readonly of: ComponentType<ScreenProps>;
  readonly below?: string;
};

const SCREENS: Readonly<Record<string, Screen>> = {
  overview: { title: 'Overview', of: Overview },
  routes: { title: 'Routes', of: Routes },
  route: { title: 'Route', of: Route, below: 'routes' },
  gateways: { title: 'Gateways', of: Gateways },
  explain: { title: 'Explain', of: Explain },
  services: { title: 'Services', of: Services },
  service: { title: 'Service', of: Service, below: 'services' },
  traffic: { title: 'Live traffic', of: LiveTraffic },
  security: { title: 'Security', of: Security },
  limits: { title: 'Limits', of: Limits },
  certificates: { title: 'Certificates', of: Certificates },
  proxies: { title: 'Proxies', of: Proxies },
  change: { title: 'Change', of: Change },
};

/** The page: where the reader can go, and the screen. */
export function Frame(): Shown {
  const { query, screen } = usePlace();
  const { title, of, below } = SCREENS[screen] ?? { title: 'Not found', of: NotFound };
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => followKeys(() => dialog.current?.showModal()), []);
  useEffect(() => {
    document.title = `${title} · Gateway`;
  }, [title]);
  return html`<a class="skip" href="#main">Skip to content</a>
    <div class="frame">
      <${Side} current=${below ?? screen} help=${() => dialog.current?.showModal()} />
      <main id="main" tabindex="-1"><${of} key=${screen} query=${query} /></main>
    </div>
    <${ActResult} />
    <${Help} dialog=${dialog} />`;
}

function Side({ current, help }: { readonly current: string; help(): void }): Shown {
  const [theme, switchTheme] = useTheme();
  const connected = useConnected();
  const links = Object.entries(SCREENS).filter(([, { below }]) => below === undefined);
  return html`<header class="side">
    <a class="brand" href=${to('overview')}>${LOGO}Gateway</a>
    <nav aria-label="Screens"><ul>${links.map(
      ([screen, { title }]) => html`<li>
        <a href=${to(screen)} aria-current=${screen === current ? 'page' : undefined}>${title}</a>
      </li>`,
    )}</ul></nav>
    <div class="foot">
      <div class="link" role="status">
        <span class="dot ${connected ? '' : 'off'}"></span>${connected ? 'Live' : 'Not connected'}
      </div>
      <div class="tools">
        <button class="small" onClick=${switchTheme}>${theme === 'dark' ? 'Light' : 'Dark'}</button>
        <button class="small" onClick=${help} aria-label="Keyboard shortcuts">?</button>
      </div>
    </div>
  </header>`;
}

const LOGO = html`<svg viewBox="0 0 16 16" aria-hidden="true">
  <rect width="16" height="16" rx="4" fill="#2563c9" />
  <path d="M4 8h5M7 4.5 10.5 8 7 11.5" fill="none" stroke="#fff" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" />
</svg>`;

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'Search'],
  ['↑ ↓', 'Row above or below'],
  ['p n', 'Previous or next page of a list'],
  ['t', 'Light or dark'],
  ['?', 'This help'],
];

function Help({
  dialog,
}: {
  readonly dialog: { readonly current: HTMLDialogElement | null };
}): Shown {
  const screens = Object.entries(SCREEN_KEYS).flatMap(([screen, key]) => {
    const title = SCREENS[screen]?.title;
    return title === undefined ? [] : [[`g ${key}`, title] as const];
  });
  return html`<dialog ref=${dialog} aria-labelledby="help">
    <h2 id="help">Keyboard shortcuts</h2>
    <dl>${[...KEYS, ...screens].map(
      ([keys, text]) =>
        html`<dt>${keys.split(' ').map(key => html`<kbd>${key}</kbd> `)}</dt><dd>${text}</dd>`,
    )}</dl>
    <form method="dialog"><button class="main">Close</button></form>
  </dialog>`;
}

function NotFound(): Shown {
  return html`<h1>There is no such screen</h1>
    <p><a href=${to('overview')}>Overview</a></p>`;
}
