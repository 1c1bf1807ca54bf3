import { chosenSection, specifiedSection } from './requirement.ts';

export const desktopCapture = [
  specifiedSection('interface 2, section 4.2', {
    'desktop/screenshot': '`desktop_screenshot` takes a picture of the screen, and of one window where the system lets it.',
  }),
  chosenSection('the work on the desktop', {
    'desktop/tool': 'A person is asked before an agent sees the screen; the picture goes to a model that sees, and to the person.',
    'desktop/wayland': 'Under Wayland the desktop’s portal is asked.',
    'desktop/none': 'Where there is no screen, or it does not answer, the error says why, and so does the doctor.',
    'desktop/gone': 'What takes pictures is a short-lived process that does not outlive its call.',
    'desktop/size': 'A picture fits into a message: one with more than 6 MB is made smaller.',
  }),
];
