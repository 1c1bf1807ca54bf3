import { goto as goTo } from '$app/navigation';

export * from '$app/navigation';

/** As SvelteKit's, for a build with hash routes: a path of the app goes behind the `#`. */
export const goto: typeof goTo = (url, ...rest) => goTo(typeof url === 'string' && url.startsWith('/') ? `#${url}` : url, ...rest);
