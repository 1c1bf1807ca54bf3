/**
 * The app's own Trusted Types policy, for URLs of its scripts. Pages run under `require-trusted-types-for 'script'`, where `new
 * SharedWorker(url)` and `serviceWorker.register(url)` throw for plain strings.
 */
interface TrustedPolicy {
  createScriptURL(url: string): unknown;
}
interface TrustedTypesFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): TrustedPolicy;
}

function validateScriptUrl(url: string): string {
  const { origin, href } = new URL(url, location.href);
  if (origin !== location.origin) throw new TypeError(`Refused to run a script of ${origin}`);
  return href;
}

let policy: TrustedPolicy | undefined;

/**
 * Converts the URL of a script to one that workers and service workers accept; in browsers without Trusted Types the URL itself. Throws a
 * `TypeError` for another origin.
 */
export function toTrustedScriptUrl(url: string): string {
  const factory = (globalThis as { trustedTypes?: TrustedTypesFactory }).trustedTypes;
  policy ??= factory ? factory.createPolicy('perch', { createScriptURL: validateScriptUrl }) : { createScriptURL: validateScriptUrl };
  // A TrustedScriptURL at run time; the DOM's types know only strings here.
  return policy.createScriptURL(url) as string;
}
