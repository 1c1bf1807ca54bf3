import { goto as goTo } from '$app/navigation';

export * from '$app/navigation';

/** SvelteKit's `goto` for a build with hash routes: a path of the app becomes a hash. */
export const goto: typeof goTo = (url, ...args) => goTo(typeof url === 'string' && url.startsWith('/') ? `#${url}` : url, ...args);
