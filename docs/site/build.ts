// `npm run build:guide`: the user guide as a static site in `dist/guide`, with the demo in it. Any file host serves it under any path.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { parseGuidePage } from '../../web/gateway/agent/guide/guide-page.ts';
import { GROUPS } from './pages.ts';
import { findBrokenLinks, type GuidePage, renderGuidePage, toDocument } from './render.ts';

const siteDir = import.meta.dirname;
const root = join(siteDir, '../..');

const DEMO_PAGE = `# Demo

The real app with a scripted model and made-up data. Nothing leaves your browser. [Open it in a tab of its own](demo/index.html).

<iframe class="demo" src="demo/index.html" title="Perch demo" loading="lazy"></iframe>
`;

/** Writes the site to a folder. The demo must have been built (`npm run build:demo`), or is left out. */
export async function buildGuide(out: string, demo?: string): Promise<void> {
  const names = GROUPS.flatMap(({ pages }) => pages);
  const sources = new Map(names.map((name) => [name, readFileSync(join(root, `docs/guide/${name}.md`), 'utf8')]));
  const pages = [...sources].map(([name, source]) => renderGuidePage(name, source));
  const broken = findBrokenLinks(pages);
  if (broken.length > 0) throw new Error(`Links that lead nowhere:\n${broken.join('\n')}`);

  const titled = new Map(pages.map((page) => [page.name, page]));
  const groups = GROUPS.map(({ title, pages: members }) => ({ title, pages: members.map((name) => titled.get(name) as GuidePage) }));
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  pages.forEach((page, at) => {
    const document = toDocument(page, { groups, previous: pages[at - 1], next: pages[at + 1] });
    writeFileSync(join(out, `${page.name}.html`), document);
    if (at === 0) writeFileSync(join(out, 'index.html'), document);
  });
  writeFileSync(join(out, 'demo.html'), toDocument({ ...renderGuidePage('demo', DEMO_PAGE), title: 'Demo' }, { groups }));
  const sections = [...sources].flatMap(([name, source]) => parseGuidePage(name, source));
  writeFileSync(join(out, 'sections.json'), JSON.stringify(sections));
  for (const file of ['site.css', 'theme.js']) copyFileSync(join(siteDir, file), join(out, file));
  copyFileSync(join(root, 'public/favicon.svg'), join(out, 'icon.svg'));
  if (existsSync(join(root, 'docs/guide/images'))) cpSync(join(root, 'docs/guide/images'), join(out, 'images'), { recursive: true });
  if (demo !== undefined) cpSync(demo, join(out, 'demo'), { recursive: true });
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    build: {
      outDir: out,
      emptyOutDir: false,
      lib: { entry: join(siteDir, 'client.ts'), formats: ['es'], fileName: () => 'site.js' },
    },
  });
}

if (import.meta.main) {
  const demo = join(root, 'dist/demo');
  const out = join(root, 'dist/guide');
  await buildGuide(out, existsSync(join(demo, 'index.html')) ? demo : undefined);
  console.log(`The guide is in ${out}`);
}
