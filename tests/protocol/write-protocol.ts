import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PARAM_EXAMPLES } from '../conformance/conformance-steps.ts';
import { createChannelsPage } from '../channels/channels-page.ts';
import { createGalleryPage } from '../gallery/gallery-page.ts';
import { createProvidersPage } from '../providers/providers-page.ts';
import { createProtocolPage } from './protocol-page.ts';

// `npm run docs`.
writeFileSync(join(import.meta.dirname, '../../docs/protocol.md'), createProtocolPage(PARAM_EXAMPLES));
writeFileSync(join(import.meta.dirname, '../../docs/gallery.html'), createGalleryPage());
writeFileSync(join(import.meta.dirname, '../../docs/channels.md'), createChannelsPage());
writeFileSync(join(import.meta.dirname, '../../docs/providers.md'), await createProvidersPage());
