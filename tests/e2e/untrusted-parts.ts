// The parts of the app that put content of others on a page, bundled by `untrusted-content.test.ts`.
export { svgFile } from '../../web/lib/diagrams/picture.ts';
export { guardLinks } from '../../web/lib/markdown/guard-links.ts';
export { render } from '../../web/lib/markdown/render.ts';
export { sanitize } from '../../web/lib/markdown/sanitize.ts';
export { scriptURL } from '../../web/lib/trusted.ts';
