import { page as kitPage } from '$app/state';

export { navigating, updated } from '$app/state';

/** SvelteKit's `page` for a build with hash routes: `url` is the address without hash routing. */
export const page: typeof kitPage = new Proxy(kitPage, {
  get(target, key) {
    if (key !== 'url') return Reflect.get(target, key) as unknown;
    const { hash, origin } = target.url;
    return new URL(hash.startsWith('#/') ? hash.slice(1) : '/', origin);
  },
});
