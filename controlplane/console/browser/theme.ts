import { useState } from 'preact/hooks';

export type Theme = 'light' | 'dark';

const KEY = 'gateway-console-theme';
const followers = new Set<() => void>();

/** The reader's choice, else that of the system. */
export function theme(): Theme {
  const chosen = stored();
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

function applyTheme(): void {
  document.documentElement.dataset.theme = theme();
  for (const follower of followers) follower();
}

/** Calls back when the theme changes. Returns how to stop. */
export function onTheme(follower: () => void): () => void {
  followers.add(follower);
  return () => void followers.delete(follower);
}

export function switchTheme(): void {
  try {
    window.localStorage.setItem(KEY, theme() === 'dark' ? 'light' : 'dark');
  } catch {
    // A browser may keep nothing for the page.
  }
  applyTheme();
}

export function followSystem(): void {
  applyTheme();
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
}

export function useTheme(): [Theme, () => void] {
  const [now, set] = useState(theme);
  return [
    now,
    () => {
      switchTheme();
      set(theme());
    },
  ];
}

function stored(): string | null {
  try {
    return window.localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
