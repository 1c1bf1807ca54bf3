import { specifiedSection } from './requirement.ts';

/** Icons of `perch/ui`. */
export const icons = [
  specifiedSection('interface document 2, section 4.3, icons', {
    'icons/set-a':
      'Each glyph that is named is there, `triangle-exwarning` as it is written and by its ordinary name; others are an error that tells which there are.',
    'icons/buttons': 'A button with an icon has a name, can be hit with a finger, does what it is told, and submits no form.',
    'icons/meaning': '`Icon` has all its constructors, with colours that stand out on light and dark, and a name that is said.',
    'icons/lucide': 'The six glyphs of the third set.',
    'icons/offline': 'They are inline SVG, drawn without the network, and under a strict content security policy.',
  }),
];
