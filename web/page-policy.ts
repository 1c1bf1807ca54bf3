import type { Config } from '@sveltejs/kit/vite';

type PagePolicy = NonNullable<NonNullable<Config['csp']>['directives']>;

/** Content Security Policy of the app's pages, which the build writes into them with the hashes of their inline scripts. */
export const PAGE_POLICY = {
  'default-src': ['none'],
  'script-src': ['self'],
  'style-src': ['self', 'unsafe-inline'],
  'connect-src': ['self'],
  'img-src': ['self', 'data:', 'blob:'],
  'font-src': ['self'],
  'media-src': ['self', 'blob:'],
  'worker-src': ['self'],
  'manifest-src': ['self'],
  'frame-src': ['self'],
  'base-uri': ['none'],
  'form-action': ['none'],
  'object-src': ['none'],
  'require-trusted-types-for': ['script'],
  'trusted-types': ['svelte-trusted-html', 'sveltekit-trusted-url', 'dompurify', 'perch'],
} satisfies PagePolicy;
