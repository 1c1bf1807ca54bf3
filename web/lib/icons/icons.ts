/** Icons of `perch/ui` (interface document 2, section 4.3). */
export type { IconLook, IconOptions } from './glyph.ts';
export { faIcon, type FaIconName } from './fa.ts';
export { faIconButton, type IconButtonOptions } from './button.ts';
export { Icon, type IconElement } from './icon.ts';
export { lucideIcon, type LucideIconName } from './lucide.ts';
