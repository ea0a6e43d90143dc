import { go, to } from './location.ts';
import { switchTheme } from './theme.ts';

/** The second key after `g`, by screen. */
export const SCREEN_KEYS: Readonly<Record<string, string>> = {
  overview: 'o',
  routes: 'r',
  gateways: 'w',
  explain: 'e',
  services: 's',
  traffic: 't',
  security: 'a',
  limits: 'l',
  certificates: 'c',
  proxies: 'p',
  change: 'd',
};

/** A pair of keys is typed within this time, in ms. */
const PAIR_MS = 1_500;

/** Handles the keys that help() lists. Keys in a field belong to the field. */
export function followKeys(help: () => void): void {
  let pairUntil = 0;
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
    const { key } = event;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      if (moveRow(event.target, key === 'ArrowDown' ? 1 : -1)) event.preventDefault();
      return;
    }
    if (event.timeStamp < pairUntil) {
      pairUntil = 0;
      const [screen] = Object.entries(SCREEN_KEYS).find(([, own]) => own === key) ?? [];
      if (screen !== undefined) go(to(screen));
      return;
    }
    if (key === 'g') pairUntil = event.timeStamp + PAIR_MS;
    else if (key === '?') help();
    else if (key === 't') switchTheme();
    else if (key === '/') {
      event.preventDefault();
      document.querySelector<HTMLElement>('main input, main textarea')?.focus();
    } else if (key === 'n' || key === 'p')
      document.querySelector<HTMLElement>(`a[data-key=${key}]`)?.click();
  });
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Moves the focus to the first link of the row above or below. */
function moveRow(target: EventTarget | null, by: 1 | -1): boolean {
  const row = target instanceof Element ? target.closest('tbody tr') : null;
  const rows = [...document.querySelectorAll('main tbody tr')].filter(each =>
    each.querySelector('a'),
  );
  const next = row === null ? undefined : rows[rows.indexOf(row) + by];
  next?.querySelector('a')?.focus();
  return next !== undefined;
}
