import { page as shown } from '$app/state';

export { navigating, updated } from '$app/state';

/** As SvelteKit's, for a build with hash routes: `url` is what the address would be without the `#`. */
export const page: typeof shown = new Proxy(shown, {
  get(target, key) {
    if (key !== 'url') return Reflect.get(target, key) as unknown;
    const { hash, origin } = target.url;
    return new URL(hash.startsWith('#/') ? hash.slice(1) : '/', origin);
  },
});
