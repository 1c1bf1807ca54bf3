/** Icons of `perch/ui`. */
export type { IconLook, IconOptions } from './glyph.ts';
export { faIcon, type FaIconName } from './fa-icons.ts';
export { faIconButton, type IconButtonOptions } from './icon-button.ts';
export { Icon, type IconElement } from './icon.ts';
export { lucideIcon, type LucideIconName } from './lucide-icons.ts';
