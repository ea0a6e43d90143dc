/** Formats `1,234`. A browser takes 20 ms to load what `Intl` needs, in its very first task. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Formats `0.3`, `12.5` or `1,234`. */
export function rate(value: number | undefined): string {
  if (value === undefined) return '–';
  if (value === 0) return '0';
  if (value < 0.1) return '<0.1';
  return value < 100 ? value.toFixed(1) : count(value);
}

/** Formats milliseconds: `0.4 ms`, `12 ms`, `1.2 s`. */
export function ms(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value < 10) return `${value.toFixed(1)} ms`;
  return value < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`;
}

/** Formats a part of a whole: `1.2 %`. Only all of it is `100 %`, and only nothing `0 %`. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const value = (100 * part) / whole;
  if (value === 0) return '0 %';
  if (value < 0.1) return '<0.1 %';
  if (value > 99.9 && value < 100) return '>99.9 %';
  return `${value.toFixed(value < 10 || (value >= 99 && value < 100) ? 1 : 0)} %`;
}

/** Formats how long ago a moment was: `12 s`, `5 min`, `3 h`, `2 d`. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800
    ? `${Math.floor(seconds / 3_600)} h`
    : `${Math.floor(seconds / 86_400)} d`;
}

/** Formats `14:03:07`. */
export function clock(at: number): string {
  const date = new Date(at);
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()];
  return parts.map(part => String(part).padStart(2, '0')).join(':');
}

/**
 * Formats `user-service` for `Mapping/default/user-service`, and `other/name` elsewhere. A resource
 * of the whole cluster has its name alone.
 */
export function shortName(id: string): string {
  const [, namespace, ...name] = id.split('/');
  return namespace === 'default' || namespace === ''
    ? name.join('/')
    : `${namespace}/${name.join('/')}`;
}

const ROUTES: readonly string[] = [
  ...['Mapping', 'HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute'],
];

/** Whether a resource has a page as a route. */
export function isRoute(id: string): boolean {
  return ROUTES.includes(id.split('/')[0] ?? '');
}

/** Formats `one`, `2 things`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}
