// The parts of the app that put content of others on a page, bundled by `untrusted-content.test.ts`.
export { toSvgFile } from '../../web/lib/diagrams/svg-picture.ts';
export { guardLinks } from '../../web/lib/markdown/guard-links.ts';
export { renderMarkdown } from '../../web/lib/markdown/render-markdown.ts';
export { sanitizeHtml } from '../../web/lib/markdown/sanitize-html.ts';
export { toTrustedScriptUrl } from '../../web/lib/trusted-script-url.ts';
