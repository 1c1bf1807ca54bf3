/** Path of incoming hooks on the bridge's API, followed by a name. */
export const HOOKS_PATH = '/hooks/';

/** Maximum bytes of the body of a call. */
export const MAX_HOOK_BODY_BYTES = 1024 * 1024;

/** Headers of a call that are passed on to the host: those that prove it, and those that tell what it is about. */
export const HOOK_HEADERS = [
  ...['content-type', 'authorization', 'x-hook-secret', 'idempotency-key'],
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  ...['x-hub-signature-256', 'x-github-event', 'x-github-delivery'],
  ...['x-gitlab-token', 'x-gitlab-event', 'x-gitlab-event-uuid'],
  ...['stripe-signature', 'sentry-hook-signature', 'sentry-hook-resource'],
] as const;

/** The name of a hook in a path such as `/hooks/deploys`; undefined for other paths. */
export const parseHookPath = (path: string): string | undefined => /^\/hooks\/([a-z0-9-]{1,63})\/?$/.exec(path)?.[1];

/** The id of a channel in a path such as `/hooks/channels/whatsapp`; undefined for other paths. */
export const parseChannelHookPath = (path: string): string | undefined => /^\/hooks\/channels\/([a-z]{1,32})\/?$/.exec(path)?.[1];

/** Whether a URL is below `/hooks/`. */
export const isHookUrl = (url = ''): boolean => url.startsWith(HOOKS_PATH);
