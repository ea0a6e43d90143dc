import type { OAuth2Spec } from '#resources/kinds/filter/filter-oauth2.ts';
import { documentOf, parseText, problemsOf } from './problem-lines.ts';

/** The least that each grant type needs. */
export const CODE = {
  authorizationURL: 'https://idp.example.com',
  clientID: 'me',
  secret: 'hunter2',
  protectedOrigins: [{ origin: 'https://app.example.com' }],
};
export const PASSWORD = {
  authorizationURL: 'https://idp.example.com',
  grantType: 'Password',
  clientID: 'me',
  secret: 'hunter2',
};
export const CREDENTIALS = {
  authorizationURL: 'https://idp.example.com',
  grantType: 'ClientCredentials',
};

/** Returns the settings as they are read. Throws when they are rejected. */
export function read(settings: object): OAuth2Spec {
  const [resource] = parseText(documentOf('Filter', { OAuth2: settings })).resources;
  if (resource?.kind !== 'Filter' || resource.spec.OAuth2 === undefined)
    throw new Error(problemsOf('Filter', { OAuth2: settings }).join('\n'));
  return resource.spec.OAuth2;
}

/** What is said of them, a line each. */
export const problems = (settings: object) =>
  problemsOf('Filter', { OAuth2: settings }).map(line => line.replace('spec.OAuth2.', ''));
