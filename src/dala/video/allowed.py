"""What FFmpeg may open for a source: never more than the user named.

A file that is called clip.mp4 may be a text that names others (ffconcat, HLS, DASH, SDP …), and FFmpeg
would open those. So a file is read as one of the formats below, which hold everything themselves, and no
other protocol than ``file`` is at hand. What comes over a network may refer to more of the network, never
to a file. ``options`` of a Reader overrule both: who names a format there trusts the file.

Left out of the formats, because they read other files: concat, hls, dash, imf, image2 (a name with %d or *
is a pattern), mlv, vobsub, sdp, rtsp, scripts (avisynth, vapoursynth), discs, devices, lavfi. An mp4 that
refers to other files (dref) is read without them: FFmpeg's ``enable_drefs`` is off. Matroska's linked
segments it ignores.
"""

from __future__ import annotations

import re
from pathlib import Path

from dala.errors import VideoError

_CONTAINERS = (
    "mov,matroska,avi,mpegts,mpeg,asf,flv,live_flv,ogg,mxf,gxf,nut,ivf,rm,ivr,wtv,dv,nsv,swf,nuv,"
    "dhav,pva,ty,lxf,r3d,cine,yuv4mpegpipe,mpjpeg,smjpeg,moflex,kux,dxa,bink,smk,roq,flic,film_cpk"
)
_BARE = (  # a codec's data with nothing around it
    "h261,h263,h264,hevc,vvc,evc,av1,obu,apv,m4v,mpegvideo,mjpeg,mjpeg_2000,vc1,vc1test,dirac,dnxhd,cavsvideo,"
    "avs2,avs3,ipu"
)
_PICTURES = (
    "gif,apng,ico,fits,jpegxl_anim,"
    "bmp_pipe,dds_pipe,dpx_pipe,exr_pipe,gem_pipe,gif_pipe,hdr_pipe,j2k_pipe,jpeg_pipe,jpegls_pipe,jpegxl_pipe,"
    "jpegxs_pipe,pam_pipe,pbm_pipe,pcx_pipe,pfm_pipe,pgm_pipe,pgmyuv_pipe,pgx_pipe,phm_pipe,png_pipe,ppm_pipe,"
    "psd_pipe,qoi_pipe,sgi_pipe,sunrast_pipe,tiff_pipe,webp_pipe,xbm_pipe,xpm_pipe,xwd_pipe"
)
_SOUND = "wav,w64,mp3,flac,aac,ac3,eac3,aiff,caf,amr,ape,wv,tta"  # so that one hears what is in it
FILE_FORMATS = f"{_CONTAINERS},{_BARE},{_PICTURES},{_SOUND}"
NETWORK_PROTOCOLS = (
    "http,https,httpproxy,tcp,tls,dtls,udp,udplite,rtp,srtp,prompeg,crypto,data,srt,rist,sctp,ftp,sftp,"
    "rtmp,rtmpe,rtmps,rtmpt,rtmpte,rtmpts,ffrtmphttp,ffrtmpcrypt,mmsh,mmst,gopher,gophers"
)
OPTIONS = {
    "file": {"protocol_whitelist": "file", "format_whitelist": FILE_FORMATS},
    "pictures": {"protocol_whitelist": "file", "format_whitelist": FILE_FORMATS},
    "stdin": {"protocol_whitelist": "file", "format_whitelist": FILE_FORMATS},
    "stream": {"protocol_whitelist": NETWORK_PROTOCOLS},
}
_SNIFFED = 4096  # bytes at the beginning of a file
_TEXTS = (
    (re.compile(rb"\s*ffconcat version"), "an ffconcat playlist", "concat"),
    (re.compile(rb"(\xef\xbb\xbf)?\s*#EXTM3U"), "an HLS playlist", "hls"),
    (re.compile(rb".*?<MPD\b", re.DOTALL), "a DASH manifest", "dash"),
    (re.compile(rb".*?<(\w+:)?CompositionPlaylist\b", re.DOTALL), "an IMF composition", "imf"),
    (re.compile(rb"v=0\s.*?^[mc]=", re.DOTALL | re.MULTILINE), "an SDP description", "sdp"),
    (re.compile(rb"# VobSub index file"), "a VobSub index", "vobsub"),
)
# a whole graph of filters could have `movie=` in it, which opens files
_PATTERN = re.compile(r"testsrc2?(=[\w.:=/-]*)?(,(realtime|fps|scale|format)(=[\w.:=/|-]*)?)*")


def refusal(path: Path, name: str) -> VideoError | None:
    """What a file that FFmpeg did not open says about others; None if it is no such text."""
    with path.open("rb") as file:
        head = file.read(_SNIFFED)
    for beginning, what, format_ in _TEXTS:
        if beginning.match(head):
            return VideoError(
                f"{name}: {what} names other files, and a file is read alone; open those that it names, "
                f"or, if you trust it, Reader(…, options={{'format_whitelist': '{format_},…'}})"
            )
    return None


def unknown_format(name: str) -> VideoError:
    """FFmpeg takes a file for something that is not in the list."""
    if re.search(r"[%*?{]", name):
        return VideoError(
            f"{name}: FFmpeg takes a picture's name with %, *, ? or {{ for a pattern of names; "
            "rename the file"
        )
    return VideoError(
        f"{name}: expected a file that holds its video itself (mp4, mkv, avi, ts, gif, png …); another "
        "format is read if you trust the file: Reader(…, options={'format_whitelist': 'its name'})"
    )


def forbidden_protocol(name: str) -> VideoError:
    """A URL, or what is found there, asks for something that is no network."""
    return VideoError(
        f"{name}: expected a stream (http, https, rtsp, rtmp, srt, tcp, udp …) that refers to nothing but "
        "the network; another protocol is used if you trust it: "
        "Reader(…, options={'protocol_whitelist': '…'})"
    )


def check_pattern(text: str) -> None:
    """Refuse a test pattern that is more than that."""
    if not _PATTERN.fullmatch(text):
        raise VideoError(
            f"{text}: expected a test pattern like 'testsrc=size=640x480:rate=30,realtime'; of FFmpeg's "
            "other filters it may have fps, scale and format"
        )
