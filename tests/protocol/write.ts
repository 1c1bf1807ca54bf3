import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLES } from '../conformance/steps.ts';
import { galleryPage } from '../gallery/page.ts';
import { providersPage } from '../providers/page.ts';
import { protocolPage } from './page.ts';

// `npm run docs`.
writeFileSync(join(import.meta.dirname, '../../docs/protocol.md'), protocolPage(EXAMPLES));
writeFileSync(join(import.meta.dirname, '../../docs/gallery.html'), galleryPage());
writeFileSync(join(import.meta.dirname, '../../docs/providers.md'), await providersPage());
