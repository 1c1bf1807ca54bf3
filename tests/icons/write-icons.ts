import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawIcons, PUBLIC_DIR } from './draw-icons.ts';

// `npm run icons`.
for (const [file, png] of await drawIcons()) writeFileSync(join(PUBLIC_DIR, file), png);
